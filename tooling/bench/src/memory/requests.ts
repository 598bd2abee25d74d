import { type Call, callOf, echoCall } from '../http/call.ts'

const progressCall = callOf('tools/call', { name: 'work', arguments: {} }, 'notifications/progress')

/**
 * What is done to the server again and again, and the text after which a client goes away, for which nothing is when it
 * stays to the end.
 */
export interface Workload {
  readonly call: Call
  /** Whether the client closes the connection as soon as it has read what is expected. */
  readonly drops: boolean
}

/** Requests that are answered, and streams that are dropped in the middle. */
export const workloads = {
  requests: { call: echoCall, drops: false },
  subscriptions: {
    call: callOf(
      'subscriptions/listen',
      { notifications: { toolsListChanged: true } },
      'notifications/subscriptions/acknowledged',
    ),
    drops: true,
  },
  progress: {
    call: { ...progressCall, body: progressCall.body.replace('"_meta":{', '"_meta":{"progressToken":"t",') },
    drops: true,
  },
} as const satisfies Readonly<Record<string, Workload>>
