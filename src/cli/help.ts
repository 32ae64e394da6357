/** The text of `ventuno --help`: at most eighty columns; exit codes as in failure.ts. */

export const HELP = `Usage: ventuno [options] URL...

Sends HTTP requests. A pipe or a file gets the body; a terminal gets the body
as it arrives, then a report of what came of it. Many options are curl's.

Request
  -X, --method NAME       default: GET, or POST with a body
  -H, --header 'N: v'     may be repeated; 'N:' leaves a field out
  -A, --user-agent NAME   -e, --referer URL   -u, --user NAME:PASSWORD
  -d, --data TEXT         body of a form; @FILE reads a file without its line
                            breaks, @- standard input; several are joined by &
      --data-raw TEXT     the same, and @ means nothing
      --data-binary TEXT  the same, and a file stays as it is
      --data-urlencode T  the same, percent-encoded: TEXT, NAME=TEXT, NAME@FILE
      --json-body TEXT    JSON, checked; @FILE and @- as above
  -F, --form 'N=V'        a part of a multipart form; N=@FILE, N=<FILE
  -G, --get               put the data into the URL
  -I, --head              ask for the head alone
  -T, --upload-file FILE  PUT this file; - is standard input
  -b, --cookie 'N=V'      send this cookie, or those of a cookies.txt
  -c, --cookie-jar FILE   send the cookies of this cookies.txt, and save those
                            that responses set; made if there is none
  -L, --location          follow redirects, up to 20
      --compressed        ask for a compressed body, and decode it
  -m, --timeout SECONDS   for all of a request (--max-time)
      --connect-timeout S for its connection
      --retry N           send it again, up to N times, if it fails and that can
                            do no harm; also after 429, 500, 502, 503, 504
      --limit-rate SPEED  bytes of the body per second: 500, 200k, 1.5M

Connection
      --http1             do not offer HTTP/2 (--http1.1)
      --http2             do not accept anything but HTTP/2 (https)
      --h2c               HTTP/2 without TLS (http)
  -4, --ipv4, -6, --ipv6  addresses of this kind alone
      --resolve H:P:ADDR  the address of host and port; * is any host
      --unix-socket PATH  connect there
  -x, --proxy URL         go through this proxy: http, https or socks5; default:
                            HTTP_PROXY, HTTPS_PROXY or ALL_PROXY
      --noproxy LIST      hosts without a proxy; default: NO_PROXY
      --cacert FILE       trust these authorities instead of the usual ones
  -E, --cert FILE         show this certificate to the origin of the URL; with
      --key FILE            its key, or with the key in this file
  -k, --insecure          accept any certificate

Result
  -o, --output FILE       save the body as it came; - is standard output
  -O, --remote-name       save it under the last part of the URL's path
  -C, --continue-at N     go on at this byte of it; - is what the file lacks
  -i, --include           the head of the response before the body
  -v, --verbose           the report, with the request's headers, also if there
                            is no terminal: on standard error
  -s, --silent            no report, no progress, no errors
  -S, --show-error        with --silent: errors all the same
  -w, --write-out FORMAT  '%{http_code} %{time_total}\\n' instead of the report
      --json              a JSON object instead of body and report
      --har FILE          write a HAR 1.2 archive, for your eyes only (mode 600)
      --har-secrets       with cookies, keys and credentials in it
  -f, --fail              a status of 400 or more is a failure, without a body
      --fail-with-body    the same, with it

Measuring
      --repeat N          send it N times and show the latencies
      --duration TIME     or for this long: 500ms, 10s, 2m; Ctrl-C ends it, too
      --concurrency C     C at a time; default: 1, with --rate 50
      --rate R            R are due each second; a latency counts from then
      --expect LIST       'p99<200ms,errors<1%,rate>400' sets the exit code

  -h, --help   -V, --version

Exit codes
   0  a response came, whatever its status
   1  the command line or a file is at fault; nothing was sent, or not saved
   2  no address, or no connection
   3  it took too long
   4  TLS, the protocol, or the connection failed
   5  what --expect says is not met
  22  with --fail: the status is 400 or more

Credentials in the URL are sent as basic authentication. Neither they nor the
values of authorization headers are shown. NO_COLOR turns colours off.
`
