// Cookie and Set-Cookie.
const COOKIE = 'session=38afes7a8f9d0c; theme=dark; lang=de-CH; _id=GA1.2.1234567890.1234567890'
const SET_COOKIE =
  'session=38afes7a8f9d0c; Path=/; Domain=example.test; Expires=Wed, 21 Oct 2015 07:28:00 GMT; Max-Age=3600; Secure; HttpOnly; SameSite=Lax'

export async function benchmarks(load) {
  const { getCookies, getSetCookies, parseCookie, setCookie } = await load('index.js')
  const headers = new Headers({ cookie: COOKIE })
  const answer = new Headers()
  for (let i = 0; i < 3; i++) answer.append('set-cookie', SET_COOKIE)
  return {
    'parseCookie, all attributes': { run: () => parseCookie(SET_COOKIE) },
    'getCookies, 4 cookies': { run: () => getCookies(headers) },
    'getSetCookies, 3 cookies': { run: () => getSetCookies(answer) },
    setCookie: {
      run: () =>
        setCookie(new Headers(), { name: 'session', value: '38afes7a8f9d0c', path: '/', secure: true }),
    },
  }
}
