import type { CallView } from './snapshot.ts'

/** The calls that are under way, and for a moment those that were. */
export interface OpenCalls {
  send(call: string, size: CallView['size']): void
  /** An instance begins to work on it, or goes on. */
  begin(call: string, instance: number, share: number): void
  /** How much of it is done, by the instance that has it. */
  work(call: string, instance: number, share: number): void
  /** It is at the instance no more. */
  leave(call: string, instance: number): void
  /** It was handed back to its client to go on elsewhere; gives the instance that it was at last. */
  move(call: string): number
  /** What was done of it is gone. */
  lose(call: string): void
  /** It has its result; gives for how many milliseconds it was under way. */
  complete(call: string): number
  drop(call: string): void
  views(): readonly CallView[]
}

interface OpenCall {
  readonly sentAt: number
  /** The instance that it was at last, though it may be there no more. */
  last: number
  view: CallView
}

interface Ghost {
  readonly view: CallView
  readonly until: number
}

/** How long a call is shown after its end, in milliseconds. */
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
      const view: CallView = { call, size, instance: 0, progress: 0, moves: 0, state: 'open' }
      open.set(call, { sentAt: now(), last: 0, view })
    },
    begin(call, instance, progress) {
      const known = change(call, { instance, progress })
      if (known !== undefined) known.last = instance
    },
    work(call, instance, progress) {
      if (open.get(call)?.view.instance === instance) change(call, { progress })
    },
    leave(call, instance) {
      if (open.get(call)?.view.instance === instance) change(call, { instance: 0 })
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
      change(call, { instance: 0, progress: 0 })
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
