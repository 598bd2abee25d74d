import './without-eval.ts'
import { connectHttp } from '@x/transport-http/client'
import { render } from 'preact'
import { Page } from './components/page.tsx'
import { createSession } from './session/session.ts'

const root = document.querySelector('#page')
if (root === null) throw new Error('index.html has no element #page to show the page in')

const endpoint = new URL('/mcp', location.href)
const session = createSession(connectHttp(endpoint).exchange, endpoint.host)
render(<Page session={session} />, root)
void session.start()
