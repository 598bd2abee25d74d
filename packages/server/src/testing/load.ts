import type { Load, ServerDefinition, ShedEvent, SheddingOptions } from '../index.ts'
import { type Kind, type Run, type Served, serve } from './rounds.ts'

/** Time and load in a test's hand. */
export interface Hand {
  time: number
  /** By how many milliseconds time goes on whenever somebody looks at it. */
  pace: number
  load: Partial<Load>
  readonly sheds: ShedEvent[]
}

/** A server of one handler whose calls may all be shed, and what it measures. Every server has the same keys. */
export function serveUnder(
  hand: Hand,
  run: Run,
  { kind, shedding, ...settings }: Partial<ServerDefinition> & { kind?: Kind; shedding?: SheddingOptions } = {},
): Served {
  const options: SheddingOptions = {
    calls: 'all',
    load: () => hand.load,
    minWorkMs: 0,
    onShed: (event) => void hand.sheds.push(event),
    ...shedding,
  }
  const runtime = { monotonicNow: () => (hand.time += hand.pace), ...settings.runtime }
  return serve(run, { ...settings, runtime, shedding: options }, kind)
}

/** A hand at the time 0, with nothing to do. At a pace of 100 every boundary measures anew. */
export function openHand(load: Partial<Load> = { eventLoopDelayMs: 0 }, pace = 0): Hand {
  return { time: 0, pace, load, sheds: [] }
}

/** A load that is over the soft limits. */
export const overloaded: Partial<Load> = { eventLoopDelayMs: 1000 }

/** A server that sheds at every boundary, wherever the call came from. */
export function shedding(run: Run, settings: Parameters<typeof serveUnder>[2] = {}): Served {
  const policy = () => true
  return serveUnder(openHand(overloaded, 100), run, { ...settings, shedding: { policy, ...settings.shedding } })
}
