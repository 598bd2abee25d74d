import { render } from 'preact'
import { Page } from './components/page.tsx'
import { createApi } from './state/api.ts'
import { createSession } from './state/session.ts'

const root = document.querySelector('#page')
if (root === null) throw new Error('index.html has no element #page to show the page in')
// The fragment is in no request and no referrer.
const session = createSession(createApi(location.hash.slice(1)))
render(<Page session={session} />, root)
await session.connect()
