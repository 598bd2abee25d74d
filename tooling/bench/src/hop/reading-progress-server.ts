import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { createParser } from 'eventsource-parser'
import { serveBareProxy } from './bare-proxy.ts'
import { startUpstream } from './upstream.ts'

serveBareProxy(await startUpstream('stream/our-server.js'), passEvents)

/** Parses each message of a stream and writes it again, with one write per chunk. It checks nothing. */
function passEvents(body: Readable, response: ServerResponse): void {
  let events = ''
  const parser = createParser({
    onEvent: ({ data }) => {
      events += `data: ${JSON.stringify(JSON.parse(data))}\n\n`
    },
  })
  const decoder = new TextDecoder()
  body.on('data', (bytes: Buffer) => {
    parser.feed(decoder.decode(bytes, { stream: true }))
    response.write(events)
    events = ''
  })
  body.on('end', () => response.end())
}
