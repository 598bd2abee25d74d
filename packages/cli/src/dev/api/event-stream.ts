import type { ServerResponse } from 'node:http'
import type { EventLog } from '../event-log.ts'
import type { StampedEvent } from '../events.ts'

/** Comments keep coming, so that a page notices when the command has ended. */
const heartbeatMs = 10_000

/** Sends the kept events and all new ones, until the page leaves. */
export function streamEvents(log: EventLog, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  const write = (event: StampedEvent): void => void response.write(`data: ${JSON.stringify(event)}\n\n`)
  for (const event of log.events) write(event)
  // The page draws once with all that was kept, and from here on with each event.
  response.write('event: live\ndata: {}\n\n')
  const unsubscribe = log.subscribe(write)
  const heartbeat = setInterval(() => response.write(': \n\n'), heartbeatMs)
  response.once('close', () => {
    unsubscribe()
    clearInterval(heartbeat)
  })
}
