import { randomBytes } from 'node:crypto'
import { type StateCodec, sealedState } from '@x/server'
import { ConfigurationError } from '../azure-devops/connection.ts'

const variable = 'STATE_KEY'

/**
 * Returns the state key for every instance's environment: the configured one, or a new one for the life of this fleet.
 */
export function shareStateKey(environment: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  const given = environment[variable] ?? ''
  if (given !== '') stateFrom(environment)
  return { [variable]: given === '' ? randomBytes(32).toString('hex') : given }
}

/**
 * Seals with the first of the keys in `STATE_KEY`, which commas separate, and opens with all of them: so a key is
 * replaced while calls are under way. Throws `ConfigurationError`, which never shows a key.
 */
export function stateFrom(environment: NodeJS.ProcessEnv): StateCodec {
  const keys = (environment[variable] ?? '').split(',').map((key) => key.trim())
  try {
    return sealedState({ keys, audience: 'ado-work-items' })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new ConfigurationError(`${variable} cannot be used: ${reason}`)
  }
}
