import type { InstanceMessage } from '../instance/instance-message.ts'
import type { CallView } from './snapshot.ts'

/** The running calls, and for a short time the ended ones. */
export interface OpenCalls {
  add(call: string, size: CallView['size']): void
  /** Applies a message of an instance about a call. */
  receiveMessage(instance: number, message: CallMessage): void
  /** Records a hand-off. Returns the instance that handed the call off, or 0 for an unknown call. */
  recordMove(call: string): number
  /** Records the loss of an attempt and its progress. */
  recordLoss(call: string): void
  /** Ends a call that has a result. Returns its latency in milliseconds. */
  complete(call: string): number
  remove(call: string): void
  views(): readonly CallView[]
}

/** A message of an instance about a call. */
export type CallMessage = Extract<InstanceMessage, { readonly call: string }>

interface OpenCall {
  readonly sentAt: number
  /** The last instance that ran the call. */
  lastInstance: number
  /** The number that the call counts up to. */
  limit: number
  view: CallView
}

interface EndedCall {
  readonly view: CallView
  readonly shownUntil: number
}

/** The time for which an ended call is shown, in milliseconds. */
const endedCallMs = 900

/** Creates an empty collection of calls. `now` returns monotonic time in milliseconds. */
export function createOpenCalls(now: () => number): OpenCalls {
  const openCalls = new Map<string, OpenCall>()
  let endedCalls: readonly EndedCall[] = []
  let lostCount = 0

  const updateView = (call: string, changes: Partial<CallView>): OpenCall | undefined => {
    const openCall = openCalls.get(call)
    if (openCall !== undefined) openCall.view = { ...openCall.view, ...changes }
    return openCall
  }
  const addEndedCall = (view: CallView): void => {
    const at = now()
    endedCalls = [...endedCalls.filter(({ shownUntil }) => shownUntil > at), { view, shownUntil: at + endedCallMs }]
  }
  return {
    add(call, size) {
      const view: CallView = { call, size, instance: 0, origin: 0, progress: 0, moves: 0, state: 'open' }
      openCalls.set(call, { sentAt: now(), lastInstance: 0, limit: 1, view })
    },
    receiveMessage(instance, message) {
      const openCall = openCalls.get(message.call)
      if (openCall === undefined) return
      if (message.kind === 'begin') Object.assign(openCall, { lastInstance: instance, limit: message.limit })
      // The message is late: the call has left this instance.
      else if (openCall.view.instance !== instance) return
      const origin = openCall.view.origin === 0 ? instance : openCall.view.origin
      updateView(message.call, { origin, ...reportedState(instance, message, openCall.limit) })
    },
    recordMove(call) {
      const moves = (openCalls.get(call)?.view.moves ?? 0) + 1
      return updateView(call, { instance: 0, moves })?.lastInstance ?? 0
    },
    recordLoss(call) {
      const openCall = openCalls.get(call)
      if (openCall === undefined) return
      lostCount++
      addEndedCall({
        ...openCall.view,
        call: `${call}/lost/${lostCount}`,
        instance: openCall.lastInstance,
        state: 'lost',
      })
      updateView(call, { instance: 0, origin: 0, progress: 0 })
    },
    complete(call) {
      const openCall = openCalls.get(call)
      if (openCall === undefined) return 0
      openCalls.delete(call)
      addEndedCall({ ...openCall.view, instance: openCall.lastInstance, progress: 1, state: 'done' })
      return now() - openCall.sentAt
    },
    remove: (call) => void openCalls.delete(call),
    views() {
      const at = now()
      const shown = endedCalls.flatMap(({ view, shownUntil }) => (shownUntil > at ? [view] : []))
      return [...Array.from(openCalls.values(), ({ view }) => view), ...shown]
    },
  }
}

function reportedState(instance: number, message: CallMessage, limit: number): Partial<CallView> {
  return message.kind === 'end' ? { instance: 0 } : { instance, progress: message.next / limit }
}
