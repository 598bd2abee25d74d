import type { ServerDefinition } from '../server-definition.ts'
import type { Settings } from '../request/scope.ts'
import { createGauge, type Gauge } from './gauge.ts'
import { quietTimer } from './quiet-timer.ts'
import { rulesOf } from './rules.ts'

/** The gauge of a server, on the platform's timers. Throws a DefinitionError for options that make no sense. */
export function openGauge({ shedding, state }: ServerDefinition, { now, warn }: Pick<Settings, 'now' | 'warn'>): Gauge {
  const onFailure = (error: unknown): void => {
    warn({
      code: 'load',
      message: `shedding.load failed, so only what the server measures itself is known: ${String(error)}`,
    })
  }
  const measure = typeof shedding === 'object' ? shedding.load : undefined
  return createGauge(rulesOf(shedding, state), { now, later: quietTimer, measure, onFailure })
}
