import type { OAuth } from '@x/auth/client'
import * as z from 'zod'

const document = z.object({ issuer: z.url().optional(), client: z.string().optional() })

/** The parts of the browser's window that a login uses. */
export interface LoginWindow {
  readonly location: { readonly href: string; assign(url: string): void }
  readonly history: { replaceState(data: unknown, unused: string, url: string): void }
  readonly sessionStorage: {
    getItem(key: string): string | null
    setItem(key: string, value: string): void
    removeItem(key: string): void
  }
}

/**
 * Creates the login of the page, or returns undefined if the server requires none. After the redirect from the
 * authorization server it completes the login, and rejects if the user declined. `beforeLeaving` is called before the
 * page navigates to the authorization server.
 */
export async function openLogin(
  { location, history, sessionStorage }: LoginWindow,
  beforeLeaving: () => void,
): Promise<OAuth | undefined> {
  const page = new URL('/', location.href)
  const response = await fetch(new URL('login.json', page))
  const { issuer, client } = document.parse(await response.json())
  if (issuer === undefined || client === undefined) return undefined
  // Most servers require no login, so this code is loaded on demand.
  const [{ oauth, pageRedirect, webStorageStore }, { dpop }] = await Promise.all([
    import('@x/auth/client'),
    import('@x/auth/dpop'),
  ])
  const auth = oauth({
    client: { name: 'Work items page', registrations: [{ issuer, id: client }] },
    redirect: pageRedirect({
      uri: page,
      assign: (url) => {
        beforeLeaving()
        location.assign(url.href)
      },
    }),
    // Each tab has its own user.
    store: webStorageStore(sessionStorage),
    dpop: dpop(),
  })
  if (!new URL(location.href).searchParams.has('state')) return auth
  const answer = location.href
  history.replaceState(null, '', page.href)
  await auth.finishLogin(answer)
  return auth
}
