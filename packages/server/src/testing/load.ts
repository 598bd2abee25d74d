import type { ServerEvents } from '@x/exchange'
import type { Load, ServerDefinition } from '../index.ts'
import { type SheddingSettings, sheddingSettings } from '../internals.ts'
import { observer } from './observer.ts'
import { type HandlerKind, type RunHandler, type TestServer, serve } from './rounds.ts'

/** Time and load in a test's hand. */
export interface ManualLoad {
  time: number
  /** Milliseconds by which the time advances at each reading. */
  pace: number
  load: Partial<Load>
  readonly sheds: Omit<ServerEvents['hand_off'], 'call'>[]
}

interface LoadSettings extends Omit<Partial<ServerDefinition>, 'shedding'> {
  readonly kind?: HandlerKind
  readonly shedding?: SheddingSettings
}

/**
 * A server with one handler, whose load the test sets and whose calls may all be shed. All these servers have the same
 * keys.
 */
export function serveWithLoad(
  hand: ManualLoad,
  run: RunHandler,
  { kind, shedding, ...settings }: LoadSettings = {},
): TestServer {
  const options = sheddingSettings({
    calls: 'all',
    load: () => hand.load,
    minWorkMs: 0,
    ...shedding,
  })
  const runtime = { monotonicNow: () => (hand.time += hand.pace), ...settings.runtime }
  const extensions = [
    observer((event) => {
      if (event.type !== 'hand_off') return
      const { type: _type, call: _call, ...shed } = event
      hand.sheds.push(shed)
    }),
    ...(settings.extensions ?? []),
  ]
  return serve(run, { ...settings, extensions, runtime, shedding: options }, kind)
}

/** Begins at the time 0. With a pace of 100, the load is measured again at each step. */
export function createManualLoad(load: Partial<Load> = { eventLoopDelayMs: 0 }, pace = 0): ManualLoad {
  return { time: 0, pace, load, sheds: [] }
}

/** Over the soft limits. */
export const overloadedLoad: Partial<Load> = { eventLoopDelayMs: 1000 }

/** Sheds each call at its first step or checkpoint, even if the call came from another instance. */
export function serveOverloaded(run: RunHandler, settings: Parameters<typeof serveWithLoad>[2] = {}): TestServer {
  const policy = () => true
  return serveWithLoad(createManualLoad(overloadedLoad, 100), run, {
    ...settings,
    shedding: { policy, ...settings.shedding },
  })
}
