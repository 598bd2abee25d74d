import './without-eval.ts'
import { connectHttp } from '@x/transport-http/client'
import { render } from 'preact'
import { Page } from './components/page.tsx'
import { explainFailure } from './session/explain-failure.ts'
import { openLogin } from './session/login.ts'
import { createSession, type Session } from './session/session.ts'

/** The key of the form in the session storage. */
const formKey = 'form'

const root = document.querySelector('#page')
if (root === null) throw new Error('index.html has no element #page to show the page in')
await open(root)

async function open(root: Element): Promise<void> {
  const endpoint = new URL('/mcp', location.href)
  const form = takeForm()
  let session: Session | undefined
  try {
    const auth = await openLogin(window, () => keepForm(session?.tools.serialize() ?? form))
    session = createSession(connectHttp(endpoint, { auth }).exchange, endpoint.host, async () => {
      const { createOlderClient } = await import('./session/older-client.ts')
      return createOlderClient(endpoint, auth)
    })
    // The tokens are deleted here even if the authorization server cannot be reached to revoke them.
    const logOut =
      auth &&
      (() =>
        void auth
          .logout(endpoint)
          .catch(() => {})
          .finally(() => location.reload()))
    render(<Page session={session} logOut={logOut} />, root)
    await session.start(form)
  } catch (error) {
    keepForm(form)
    render(<NotLoggedIn reason={explainFailure(error)} />, root)
  }
}

/** Stores the form while the user logs in for more scopes, because the login reloads the page. */
function keepForm(form: string | undefined): void {
  if (form !== undefined) sessionStorage.setItem(formKey, form)
}

function takeForm(): string | undefined {
  const form = sessionStorage.getItem(formKey)
  sessionStorage.removeItem(formKey)
  return form ?? undefined
}

function NotLoggedIn({ reason }: { readonly reason: string }) {
  return (
    <p class="notice bad alone" role="alert">
      {reason} <a href="/">Log in again</a>
    </p>
  )
}
