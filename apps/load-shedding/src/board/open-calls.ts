import type { InstanceMessage } from '../instance/instance-message.ts'
import type { CallView } from './snapshot.ts'

/** The calls that are under way, and for a moment those that were. */
export interface OpenCalls {
  send(call: string, size: CallView['size']): void
  /** An instance starts a call, continues it, or has ended it. */
  hear(instance: number, message: CallMessage): void
  /** It was handed back to its client to go on elsewhere; gives the instance that it was at last. */
  move(call: string): number
  /** Its completed work is lost. */
  lose(call: string): void
  /** It has its result; gives for how many milliseconds it was under way. */
  complete(call: string): number
  drop(call: string): void
  views(): readonly CallView[]
}

/** An instance's message about a call. */
export type CallMessage = Extract<InstanceMessage, { readonly call: string }>

interface OpenCall {
  readonly sentAt: number
  /** The instance that it was at last, though it may be there no more. */
  last: number
  /** The number that it counts up to. */
  limit: number
  view: CallView
}

interface Ghost {
  readonly view: CallView
  readonly until: number
}

/** The time for which an ended call is shown, in milliseconds. */
const shownMs = 900

/** No calls; `now` gives milliseconds from any beginning. */
export function createOpenCalls(now: () => number): OpenCalls {
  const open = new Map<string, OpenCall>()
  let ghosts: readonly Ghost[] = []
  let losses = 0

  const change = (call: string, changes: Partial<CallView>): OpenCall | undefined => {
    const known = open.get(call)
    if (known !== undefined) known.view = { ...known.view, ...changes }
    return known
  }
  const show = (view: CallView): void => {
    const at = now()
    ghosts = [...ghosts.filter(({ until }) => until > at), { view, until: at + shownMs }]
  }
  return {
    send(call, size) {
      const view: CallView = { call, size, instance: 0, origin: 0, progress: 0, moves: 0, state: 'open' }
      open.set(call, { sentAt: now(), last: 0, limit: 1, view })
    },
    hear(instance, message) {
      const known = open.get(message.call)
      if (known === undefined) return
      if (message.kind === 'begin') Object.assign(known, { last: instance, limit: message.limit })
      // A message of an instance about a call that has left it arrives late.
      else if (known.view.instance !== instance) return
      const origin = known.view.origin === 0 ? instance : known.view.origin
      change(message.call, { origin, ...toldBy(instance, message, known.limit) })
    },
    move(call) {
      const moves = (open.get(call)?.view.moves ?? 0) + 1
      return change(call, { instance: 0, moves })?.last ?? 0
    },
    lose(call) {
      const known = open.get(call)
      if (known === undefined) return
      losses++
      show({ ...known.view, call: `${call}/lost/${losses}`, instance: known.last, state: 'lost' })
      change(call, { instance: 0, origin: 0, progress: 0 })
    },
    complete(call) {
      const known = open.get(call)
      if (known === undefined) return 0
      open.delete(call)
      show({ ...known.view, instance: known.last, progress: 1, state: 'done' })
      return now() - known.sentAt
    },
    drop: (call) => void open.delete(call),
    views() {
      const at = now()
      const shown = ghosts.flatMap(({ view, until }) => (until > at ? [view] : []))
      return [...Array.from(open.values(), ({ view }) => view), ...shown]
    },
  }
}

function toldBy(instance: number, message: CallMessage, limit: number): Partial<CallView> {
  return message.kind === 'end' ? { instance: 0 } : { instance, progress: message.next / limit }
}
