import type { OAuth } from '@x/auth/client'
import * as z from 'zod'

const document = z.object({ issuer: z.url().optional(), client: z.string().optional() })

/** The part of a browser's window that a login uses. */
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
 * Opens the login of the page where the server wants one; undefined elsewhere. After the return from the authorization
 * server it finishes the login, and rejects when that was declined. `beforeLeaving` is called before the page leaves
 * for the authorization server.
 */
export async function openLogin(
  { location, history, sessionStorage }: LoginWindow,
  beforeLeaving: () => void,
): Promise<OAuth | undefined> {
  const page = new URL('/', location.href)
  const response = await fetch(new URL('login.json', page))
  const { issuer, client } = document.parse(await response.json())
  if (issuer === undefined || client === undefined) return undefined
  // Most servers of this page want no login: the code for it is loaded with the first that does.
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
    // Each tab has a person of its own.
    store: webStorageStore(sessionStorage),
    dpop: dpop(),
  })
  if (!new URL(location.href).searchParams.has('state')) return auth
  const answer = location.href
  history.replaceState(null, '', page.href)
  await auth.finishLogin(answer)
  return auth
}
