# shellcheck shell=sh
# The Debian packages that test/interop uses, and the installation of packages. Read by interop.sh and test-site.sh.

# Seconds for everything that uses the network; the installation itself is never interrupted.
FETCH_LIMIT=120

# Each package with the program that shows that it is installed.
missing_packages() {
  for entry in \
    nginx-light:nginx \
    libnginx-mod-http-brotli-filter:/usr/lib/nginx/modules/ngx_http_brotli_filter_module.so \
    varnish:varnishd \
    apache2-bin:apache2 \
    h2o:h2o \
    haproxy:haproxy \
    lighttpd:lighttpd \
    lighttpd-mod-openssl:/usr/lib/lighttpd/mod_openssl.so \
    lighttpd-mod-deflate:/usr/lib/lighttpd/mod_deflate.so \
    nghttp2-server:nghttpd \
    nghttp2-proxy:nghttpx \
    caddy:caddy \
    golang-go:go \
    squid:squid \
    redis-server:redis-server \
    tinyproxy-bin:tinyproxy \
    microsocks:microsocks \
    dante-server:danted \
    libnss-wrapper:/usr/share/doc/libnss-wrapper \
    openssh-server:sshd \
    openssh-client:ssh \
    stunnel4:stunnel4; do
    sign=${entry#*:}
    command -v "$sign" >/dev/null 2>&1 || [ -e "$sign" ] || echo "${entry%%:*}"
  done
}

may_install() {
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1
}

# install_packages <name>...
# In a subshell, so that its traps and its environment end with it.
install_packages() (
  export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 NEEDRESTART_SUSPEND=1
  log=$(mktemp)
  policy=/usr/sbin/policy-rc.d
  kept=''

  # invoke-rc.d and deb-systemd-invoke ask this program whether a package may start its service: no.
  forbid_services() {
    if [ -x "$policy" ]; then
      answer=0
      "$policy" interop start >/dev/null 2>&1 || answer=$?
      if [ "$answer" = 101 ]; then return; fi
    fi
    if [ -e "$policy" ] || [ -L "$policy" ]; then
      kept=$(mktemp -d /usr/sbin/.policy-rc.d.XXXXXX)
      mv "$policy" "$kept/policy-rc.d"
    else
      kept=none
    fi
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
  }

  restore() {
    case "$kept" in
      '') ;;
      none) rm -f "$policy" ;;
      *) mv -f "$kept/policy-rc.d" "$policy" && rmdir "$kept" ;;
    esac
    kept=''
    rm -f "$log"
  }
  trap restore EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP

  fetch() {
    timeout "$FETCH_LIMIT" apt-get -qq -y --no-install-recommends -o DPkg::Lock::Timeout=60 \
      --download-only install "$@" >>"$log" 2>&1 </dev/null
  }

  install() {
    apt-get -qq -y --no-install-recommends -o DPkg::Lock::Timeout=60 -o Dpkg::Use-Pty=0 \
      install "$@" >>"$log" 2>&1 </dev/null
  }

  if ! forbid_services; then
    echo 'services could not be kept from starting: nothing is installed' >&2
    exit 1
  fi
  echo "installing: $*" >&2
  if ! fetch "$@"; then
    # The package lists are missing or old.
    timeout "$FETCH_LIMIT" apt-get -qq update >>"$log" 2>&1 </dev/null || true
    if ! fetch "$@"; then
      # A package that a later Debian no longer has must not prevent the others.
      available=''
      for package in "$@"; do
        if apt-cache show "$package" >/dev/null 2>&1; then available="$available $package"; fi
      done
      # shellcheck disable=SC2086 # a list of names
      set -- $available
      if [ $# -eq 0 ] || ! fetch "$@"; then
        echo 'nothing could be fetched:' >&2
        tail -n 5 "$log" >&2
        exit 1
      fi
    fi
  fi
  if ! install "$@"; then
    for package in "$@"; do
      install "$package" || echo "could not install $package" >&2
    done
    tail -n 5 "$log" >&2
  fi
)
