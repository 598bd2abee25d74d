import { render } from 'preact'
import { Page } from './components/page.tsx'
import { type Follow, openSession, type Send } from './session/session.ts'

const root = document.querySelector('#page')
if (root === null) throw new Error('index.html has no element #page to show the page in')

const follow: Follow = (listener) => {
  const events = new EventSource('/api/events')
  events.addEventListener('message', ({ data }) => listener.moment(String(data)))
  events.addEventListener('error', listener.interrupted)
}
const send: Send = async (command) => {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch('/api/commands', { method: 'POST', headers, body: JSON.stringify(command) })
  return response.ok
}
const session = openSession(follow, send)
render(<Page session={session} />, root)
