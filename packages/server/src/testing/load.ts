import type { Load, ServerDefinition, ShedEvent } from '../index.ts'
import { type SheddingSettings, sheddingSettings } from '../internals.ts'
import { type HandlerKind, type RunHandler, type TestServer, serve } from './rounds.ts'

/** Time and load in a test's hand. */
export interface ManualLoad {
  time: number
  /** By how many milliseconds time goes on whenever somebody looks at it. */
  pace: number
  load: Partial<Load>
  readonly sheds: ShedEvent[]
}

/** What a test says of such a server. */
interface LoadSettings extends Omit<Partial<ServerDefinition>, 'shedding'> {
  readonly kind?: HandlerKind
  readonly shedding?: SheddingSettings
}

/** A server of one handler whose calls may all be shed, and what it measures. Every server has the same keys. */
export function serveWithLoad(
  hand: ManualLoad,
  run: RunHandler,
  { kind, shedding, ...settings }: LoadSettings = {},
): TestServer {
  const options = sheddingSettings({
    calls: 'all',
    load: () => hand.load,
    minWorkMs: 0,
    onShed: (event) => void hand.sheds.push(event),
    ...shedding,
  })
  const runtime = { monotonicNow: () => (hand.time += hand.pace), ...settings.runtime }
  return serve(run, { ...settings, runtime, shedding: options }, kind)
}

/** A hand at the time 0, with nothing to do. At a pace of 100 every boundary measures anew. */
export function createManualLoad(load: Partial<Load> = { eventLoopDelayMs: 0 }, pace = 0): ManualLoad {
  return { time: 0, pace, load, sheds: [] }
}

/** A load that is over the soft limits. */
export const overloadedLoad: Partial<Load> = { eventLoopDelayMs: 1000 }

/** A server that sheds at every boundary, wherever the call came from. */
export function serveOverloaded(run: RunHandler, settings: Parameters<typeof serveWithLoad>[2] = {}): TestServer {
  const policy = () => true
  return serveWithLoad(createManualLoad(overloadedLoad, 100), run, {
    ...settings,
    shedding: { policy, ...settings.shedding },
  })
}
