import { isWorkerd } from '@x/schema'
import type { ServerDefinition } from '../definitions/server-definition.ts'
import type { ServerSettings } from '../replay/served-request.ts'
import { createLoadMonitor, type LoadMonitor } from './load-monitor.ts'
import { unrefTimer } from './unref-timer.ts'
import { rulesOf } from './rules.ts'

/** Makes the load monitor of a server, on the platform's timers. Throws a DefinitionError for options that make no sense. */
export function openLoadMonitor(
  { shedding, state }: ServerDefinition,
  { now, wallClock, warn }: Pick<ServerSettings, 'now' | 'wallClock' | 'warn'>,
): LoadMonitor {
  const onFailure = (error: unknown): void => {
    warn({
      code: 'load',
      message: `shedding.load failed, so only what the server measures itself is known: ${String(error)}`,
    })
  }
  const measure = typeof shedding === 'object' ? shedding.load : undefined
  return createLoadMonitor(rulesOf(shedding, state), {
    now,
    wallClock,
    // There, the time until the next request would look like a delay.
    later: isWorkerd() ? undefined : unrefTimer,
    measure,
    onFailure,
    randomId: randomTag,
  })
}

/** 48 random bits, in eight letters: a fleet has thousands of instances at most, and each tag travels with a call. */
function randomTag(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(6))
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
}
