/** A page that does not redirect. */
export interface LastPage {
  readonly status: number
  readonly text: string
}

/**
 * Follows the redirects of a gateway as a browser does, with cookies, until a page does not redirect. `browse` follows
 * the pages of other servers and resolves to the gateway URL that they redirect to.
 */
export async function followPages(from: string, origin: string, browse: (url: URL) => Promise<URL>): Promise<LastPage> {
  const cookies = new Map<string, string>()
  let url = new URL(from)
  for (let step = 0; step < 10; step += 1) {
    if (url.origin !== origin) url = await browse(url)
    if (url.origin !== origin) throw new Error(`The login leads to ${url.href}`)
    const cookie = Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; ')
    const page = await fetch(url, { redirect: 'manual', headers: { cookie } })
    for (const text of page.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? []
      cookies.set(name, value)
    }
    const location = page.headers.get('location')
    if (location === null) return { status: page.status, text: await page.text() }
    url = new URL(location)
  }
  throw new Error('The pages redirect endlessly')
}
