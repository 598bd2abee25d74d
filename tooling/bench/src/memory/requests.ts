import { type Call, callOf, echoCall } from '../http/call.ts'

const progressCall = callOf('tools/call', { name: 'work', arguments: {} }, 'notifications/progress')

/** A call that the load repeats. */
export interface Workload {
  readonly call: Call
  /** True if the client closes the connection after the expected text, before the response ends. */
  readonly drops: boolean
}

/** Requests with a complete response, and streams that the client closes early. */
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
