import './without-eval.ts'
import { connectHttp } from '@x/transport-http/client'
import { render } from 'preact'
import { Page } from './components/page.tsx'
import { explainFailure } from './session/explain-failure.ts'
import { openLogin } from './session/login.ts'
import { createSession } from './session/session.ts'

const root = document.querySelector('#page')
if (root === null) throw new Error('index.html has no element #page to show the page in')
await open(root)

async function open(root: Element): Promise<void> {
  const endpoint = new URL('/mcp', location.href)
  try {
    const auth = await openLogin(window)
    const session = createSession(connectHttp(endpoint, { auth }).exchange, endpoint.host)
    // The tokens are forgotten here, also where the authorization server cannot be reached to revoke them.
    const logOut =
      auth &&
      (() =>
        void auth
          .logout(endpoint)
          .catch(() => {})
          .finally(() => location.reload()))
    render(<Page session={session} logOut={logOut} />, root)
    await session.start()
  } catch (error) {
    render(<NotLoggedIn reason={explainFailure(error)} />, root)
  }
}

function NotLoggedIn({ reason }: { readonly reason: string }) {
  return (
    <p class="notice bad alone" role="alert">
      {reason} <a href="/">Log in again</a>
    </p>
  )
}
