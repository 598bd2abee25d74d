/** A page of a login, or a redirect to one. */
export interface LoginPage {
  readonly status: number
  readonly text: string
  /** Where the browser is redirected. */
  readonly location?: URL | undefined
  readonly cookie?: string | undefined
}

/** Pages that end a login. */
export const pages = {
  done: { status: 200, text: 'You are logged in. You can close this page and return to your application.' },
  notFound: { status: 404, text: 'There is nothing here.' },
  wrongMethod: { status: 405, text: 'This page accepts GET requests only.' },
  expired: {
    status: 400,
    text: 'This login was begun in another browser, or more than ten minutes ago. Begin it again in your application.',
  },
  otherUser: {
    status: 403,
    text: 'You are logged in as another user than the one who needs this login. Log out there, and begin it again in your application.',
  },
  denied: { status: 403, text: 'The login was refused. You can begin it again in your application.' },
  unavailable: { status: 503, text: 'A server that the login needs does not answer. Try again in a minute.' },
  failed: { status: 502, text: 'The login failed. The operator of this gateway can see the reason in the log.' },
} as const satisfies Readonly<Record<string, LoginPage>>

/** Stored nowhere, and no other page may frame it. */
export function toPageResponse({ status, text, location, cookie }: LoginPage): Response {
  const headers = new Headers({
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy':
      "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
  if (location !== undefined) headers.set('location', location.href)
  if (cookie !== undefined) headers.set('set-cookie', cookie)
  if (status === pages.wrongMethod.status) headers.set('allow', 'GET')
  if (status === pages.unavailable.status) headers.set('retry-after', '60')
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Login</title>
<style>
  :root { color-scheme: light dark; font: 18px/1.5 system-ui, sans-serif; }
  main { max-width: 32rem; margin: 20vh auto; padding: 0 1rem; }
</style>
<main><h1>Login</h1><p>${text}</p></main>
</html>
`
  return new Response(html, { status, headers })
}
