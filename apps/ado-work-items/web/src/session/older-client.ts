import { createClient } from '@x/client'
import { connectAny } from '@x/legacy/client'
import type { HttpAuthorizer } from '@x/transport-http/client'
import { createRecordingFetch, type WireMessage } from '../../../src/walk-through/record-messages.ts'
import { roundWatch } from '../../../src/walk-through/round-watch.ts'
import { describeOlderMessages, type RecordedClient } from './messages.ts'

/** Creates a client of 2025-11-25 that returns the `state` of questions (SEP-1685), and records its messages. */
export function createOlderClient(endpoint: URL, auth: HttpAuthorizer | undefined): RecordedClient {
  let messages: WireMessage[] = []
  const fetch = createRecordingFetch((message) => messages.push(message))
  const connection = connectAny(endpoint, { revision: 'older', http: { auth, fetch } })
  const info = { name: 'work-items-page', version: '0.1.0' }
  return {
    client: createClient(connection, { ...info, cache: false, extensions: [roundWatch()] }),
    takeMessages: () => {
      const taken = messages
      messages = []
      return describeOlderMessages(taken)
    },
  }
}
