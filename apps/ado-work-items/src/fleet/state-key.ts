import { randomBytes } from 'node:crypto'
import { type StateCodec, sealedState } from '@x/server'
import { ConfigurationError } from '../azure-devops/connection.ts'

const variable = 'STATE_KEY'

/** What every instance finds in its environment: the key that is set, or a new one for as long as this fleet runs. */
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
