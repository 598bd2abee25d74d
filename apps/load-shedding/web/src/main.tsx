import { render } from 'preact'
import { Page } from './components/page.tsx'
import { type Subscribe, openSession, type SendCommand } from './session/session.ts'

const root = document.querySelector('#page')
if (root === null) throw new Error('index.html has no element #page to show the page in')

const subscribe: Subscribe = (listener) => {
  const events = new EventSource('/api/events')
  events.addEventListener('message', ({ data }) => listener.onSnapshot(String(data)))
  events.addEventListener('error', listener.onInterrupt)
}
const send: SendCommand = async (command) => {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch('/api/commands', { method: 'POST', headers, body: JSON.stringify(command) })
  return response.ok
}
const session = openSession(subscribe, send)
render(<Page session={session} />, root)
