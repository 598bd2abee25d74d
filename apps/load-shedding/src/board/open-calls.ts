import type { InstanceMessage } from '../instance/instance-message.ts'
import type { CallView } from './snapshot.ts'

type CallMessage = Extract<InstanceMessage, { readonly call: string }>

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

/** The running calls, and for a short time the ended ones. */
export class OpenCalls {
  readonly #now: () => number
  readonly #openCalls = new Map<string, OpenCall>()
  #endedCalls: readonly EndedCall[] = []
  #lostCount = 0

  /** `now` returns monotonic time in milliseconds. */
  constructor(now: () => number) {
    this.#now = now
  }

  add(call: string, size: CallView['size']): void {
    const view: CallView = { call, size, instance: 0, origin: 0, progress: 0, moves: 0, state: 'open' }
    this.#openCalls.set(call, { sentAt: this.#now(), lastInstance: 0, limit: 1, view })
  }

  /** Applies a message of an instance about a call. */
  receiveMessage(instance: number, message: CallMessage): void {
    const openCall = this.#openCalls.get(message.call)
    if (openCall === undefined) return
    if (message.kind === 'begin') Object.assign(openCall, { lastInstance: instance, limit: message.limit })
    // The message is late: the call has left this instance.
    else if (openCall.view.instance !== instance) return
    const origin = openCall.view.origin === 0 ? instance : openCall.view.origin
    this.#updateView(message.call, { origin, ...reportedState(instance, message, openCall.limit) })
  }

  /** Records a hand-off. Returns the instance that handed the call off, or 0 for an unknown call. */
  recordMove(call: string): number {
    const moves = (this.#openCalls.get(call)?.view.moves ?? 0) + 1
    return this.#updateView(call, { instance: 0, moves })?.lastInstance ?? 0
  }

  /** Records the loss of an attempt and its progress. */
  recordLoss(call: string): void {
    const openCall = this.#openCalls.get(call)
    if (openCall === undefined) return
    const lost = `${call}/lost/${++this.#lostCount}`
    this.#addEndedCall({ ...openCall.view, call: lost, instance: openCall.lastInstance, state: 'lost' })
    this.#updateView(call, { instance: 0, origin: 0, progress: 0 })
  }

  /** Ends a call that has a result. Returns its latency in milliseconds. */
  complete(call: string): number {
    const openCall = this.#openCalls.get(call)
    if (openCall === undefined) return 0
    this.#openCalls.delete(call)
    this.#addEndedCall({ ...openCall.view, instance: openCall.lastInstance, progress: 1, state: 'done' })
    return this.#now() - openCall.sentAt
  }

  remove(call: string): void {
    this.#openCalls.delete(call)
  }

  views(): readonly CallView[] {
    const at = this.#now()
    const shown = this.#endedCalls.flatMap(({ view, shownUntil }) => (shownUntil > at ? [view] : []))
    return [...Array.from(this.#openCalls.values(), ({ view }) => view), ...shown]
  }

  #updateView(call: string, changes: Partial<CallView>): OpenCall | undefined {
    const openCall = this.#openCalls.get(call)
    if (openCall !== undefined) openCall.view = { ...openCall.view, ...changes }
    return openCall
  }

  #addEndedCall(view: CallView): void {
    const at = this.#now()
    const shown = this.#endedCalls.filter(({ shownUntil }) => shownUntil > at)
    this.#endedCalls = [...shown, { view, shownUntil: at + endedCallMs }]
  }
}

function reportedState(instance: number, message: CallMessage, limit: number): Partial<CallView> {
  return message.kind === 'end' ? { instance: 0 } : { instance, progress: message.next / limit }
}
