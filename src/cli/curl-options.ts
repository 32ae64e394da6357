/**
 * What to use instead of the options of curl that this command does not have. Those that it does have are in
 * options.ts.
 */

const HTTP_ONLY = 'this command speaks HTTP alone'
const BASIC_ONLY = "-u sends basic credentials; others go into -H 'authorization: …'"
const PROXY_URL = 'give scheme, name and password in the URL of --proxy'
const TLS_OF_RUNTIME =
  'TLS is that of Node.js: NODE_OPTIONS, such as --tls-min-v1.3 or --tls-cipher-list, sets it'
const ALWAYS = 'leave it out: it is so anyway'
const NEVER = 'leave it out: it never is'
const LOAD = '--repeat, --duration, --rate and --concurrency send many requests'
const SHELL = 'there is none; the shell can do it'

const ADVICE: Readonly<Record<string, string>> = {
  [HTTP_ONLY]:
    'ftp-account P ftp-alternative-to-user ftp-create-dirs ftp-method ftp-pasv ftp-port ftp-pret ftp-skip-pasv-ip ' +
    'ftp-ssl-ccc ftp-ssl-ccc-mode ftp-ssl-control disable-eprt disable-epsv mail-auth mail-from mail-rcpt ' +
    'mail-rcpt-allowfails sasl-authzid sasl-ir list-only l append a quote Q crlf use-ascii B telnet-option t ' +
    'tftp-blksize tftp-no-options pubkey hostpubmd5 hostpubsha256 compressed-ssh http0.9 gopher proto-redir login-options',
  [BASIC_ONLY]:
    'anyauth basic digest negotiate ntlm ntlm-wb delegation krb service-name oauth2-bearer aws-sigv4 netrc n ' +
    'netrc-file netrc-optional',
  [PROXY_URL]:
    'proxy-user U proxy-anyauth proxy-basic proxy-digest proxy-negotiate proxy-ntlm proxy1.0 socks4 socks4a socks5 ' +
    'socks5-hostname socks5-basic socks5-gssapi socks5-gssapi-nec socks5-gssapi-service proxytunnel p preproxy ' +
    'proxy-header proxy-service-name proxy-http2',
  '--cacert is for an https: proxy, too': 'proxy-cacert proxy-cert proxy-key proxy-insecure',
  [TLS_OF_RUNTIME]:
    'tlsv1 1 tlsv1.0 tlsv1.1 tlsv1.2 tlsv1.3 tls-max sslv2 2 sslv3 3 ssl ssl-reqd ciphers tls13-ciphers curves ' +
    'ssl-no-revoke ssl-revoke-best-effort ssl-allow-beast ssl-auto-client-cert cert-status cert-type key-type pass ' +
    'engine crlfile capath pinnedpubkey egd-file random-file tlsauthtype tlsuser tlspassword false-start ca-native ' +
    'proxy-cert-type proxy-key-type proxy-ssl-allow-beast proxy-ssl-auto-client-cert proxy-tls13-ciphers ' +
    'proxy-tlsauthtype proxy-tlspassword proxy-tlsuser doh-cert-status proxy-tlsv1 proxy-ciphers proxy-pinnedpubkey proxy-crlfile proxy-capath proxy-pass',
  [ALWAYS]:
    'no-buffer N buffer tcp-nodelay tcp-fastopen keepalive globoff g no-sessionid sessionid alpn npn ' +
    'tr-encoding raw progress-meter styled-output metalink disable q no-npn',
  [NEVER]: 'no-keepalive no-alpn no-progress-meter',
  '--h2c': 'http2-prior-knowledge',
  '--http1': 'http1.0 0',
  'HTTP/3 needs QUIC, which Node.js does not offer': 'http3 http3-only alt-svc',
  [LOAD]: 'parallel Z parallel-max parallel-immediate',
  '-i shows the head with the body': 'dump-header D',
  '-v shows the request, too, --json everything': 'trace trace-ascii trace-time trace-ids stderr',
  'write the URL without it': 'url',
  "-G -d 'name=value', or write it into the URL": 'url-query',
  "-H 'range: bytes=0-99'": 'range r',
  "-H 'if-modified-since: …'": 'time-cond z etag-compare',
  "-i shows the etag; send it with -H 'if-none-match: …'": 'etag-save',
  "--json-body, and -H 'accept: application/json'": 'json',
  '-F \'name="value"\'': 'form-string form-escape',
  '-L follows 20 redirects': 'max-redirs',
  "-L and -H 'authorization: …' do not cross origins: send a request to each": 'location-trusted',
  'with -L, a POST becomes a GET after 301, 302 and 303; send the next request by itself':
    'post301 post302 post303',
  '--retry waits as long as the server asks for, and longer each time':
    'retry-delay retry-max-time retry-all-errors retry-connrefused',
  '--resolve host:port:address':
    'connect-to dns-servers dns-interface dns-ipv4-addr dns-ipv6-addr doh-url doh-insecure',
  '--timeout limits all of it':
    'speed-limit Y speed-time y expect100-timeout keepalive-time happy-eyeballs-timeout-ms',
  '-o FILE': 'remote-header-name J remote-name-all output-dir no-remote-name remote-time R',
  [SHELL]:
    'path-as-is junk-session-cookies j create-dirs remove-on-error no-clobber ignore-content-length xattr ' +
    'config K max-filesize next : disallow-username-in-url hsts interface local-port manual M fail-early rate-limit libcurl ipfs-gateway create-file-mode',
  'progress is drawn on a terminal by itself; -s leaves it out': 'progress-bar #',
  "-X and -H 'host: …'": 'request-target haproxy-protocol haproxy-clientip',
  '--unix-socket': 'abstract-unix-socket',
  'proto is http or https: write it into the URL': 'proto proto-default suppress-connect-headers',
}

const BY_NAME: ReadonlyMap<string, string> = new Map(
  Object.entries(ADVICE).flatMap(([advice, names]) =>
    names.split(' ').map((name) => [name, advice] as const),
  ),
)

/** Null for what is no option of curl either. */
export function adviceFor(rawName: string): string | null {
  return BY_NAME.get(rawName.replace(/^--?/, '')) ?? null
}
