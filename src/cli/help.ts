/** The text of `ventuno --help`: at most eighty columns; exit codes as in failure.ts. */

export const HELP = `Usage: ventuno [options] URL

One HTTP request, and a report of what came of it.

Request
  -X, --method NAME       default: GET, or POST with a body
  -H, --header 'N: v'     may be repeated
  -d, --data TEXT         body; @FILE reads a file, @- standard input
      --json-body TEXT    the same, sent as application/json
      --timeout SECONDS   for all of a request
  -L, --location          follow redirects, up to 20
      --compressed        ask for a compressed body, and decode it
      --cookie-jar FILE   send the cookies of this cookies.txt, and save those
                            that responses set; made if there is none
      --retry N           send it again, up to N times, if it fails and that can
                            do no harm; also after 429, 500, 502, 503, 504

Connection
      --http1             do not offer HTTP/2
      --http2             do not accept anything but HTTP/2 (https)
      --h2c               HTTP/2 without TLS (http)
      --unix-socket PATH  connect there
  -x, --proxy URL         go through this proxy: http, https or socks5; default:
                            HTTP_PROXY, HTTPS_PROXY or ALL_PROXY
      --noproxy LIST      hosts without a proxy; default: NO_PROXY
      --cacert FILE       trust these authorities instead of the usual ones
      --cert FILE         show this certificate to the origin of the URL; with
      --key FILE            its key, or with the key in this file
  -k, --insecure          accept any certificate

Result
  -o, --output FILE       save the body as it came; - is standard output
  -v, --verbose           show the request's headers, too
      --json              a JSON object instead of the report
      --har FILE          write a HAR 1.2 archive, for your eyes only (mode 600)
      --har-secrets       with cookies, keys and credentials in it
  -f, --fail              a status of 400 or more is a failure

Measuring
      --repeat N          send it N times and show the latencies
      --concurrency C     C at a time; default: 1

  -h, --help   -V, --version

Exit codes
   0  a response came, whatever its status
   1  the command line or a file is at fault; nothing was sent, or not saved
   2  no address, or no connection
   3  it took too long
   4  TLS, the protocol, or the connection failed
  22  with --fail: the status is 400 or more

Credentials in the URL are sent as basic authentication. Neither they nor the
values of authorization headers are shown. NO_COLOR turns colours off.
`
