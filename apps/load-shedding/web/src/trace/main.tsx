import { render } from 'preact'
import type { TelemetryView } from '../../../src/telemetry/telemetry-view.ts'
import { TracePage } from './trace-page.tsx'

const refreshMs = 2000

const root = document.querySelector('#page')
if (root === null) throw new Error('trace.html has no element #page to show the page in')
const element = root

async function show(): Promise<void> {
  const response = await fetch('/api/telemetry')
  // The server of this page sends this type.
  if (response.ok) render(<TracePage view={(await response.json()) as TelemetryView} />, element)
  else throw new Error(`The server responded with ${response.status}`)
}

/** Updates the telemetry every two seconds. The server chooses the trace. */
async function refresh(): Promise<void> {
  await show().catch((error: unknown) => render(<p class="hint">Not connected: {String(error)}</p>, element))
  setTimeout(() => void refresh(), refreshMs)
}

void refresh()
