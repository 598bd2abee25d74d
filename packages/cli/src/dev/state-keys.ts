import { randomBytes } from 'node:crypto'
import type { KeyInput } from '@x/state-codec'
import { readKeysFile } from '../keys/keys-file.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** With the key of this run, the next process opens what the server seals. */
export function addStateKey(env: Environment): Environment {
  const { STATE_KEYS, STATE_KEYS_FILE } = env
  const hasKey = STATE_KEYS !== undefined || STATE_KEYS_FILE !== undefined
  return hasKey ? env : { ...env, STATE_KEYS: randomBytes(32).toString('base64url') }
}

/** Keys that the server seals with. */
export async function readStateKeys({ STATE_KEYS, STATE_KEYS_FILE }: Environment): Promise<readonly KeyInput[]> {
  if (STATE_KEYS !== undefined) return STATE_KEYS.split(',')
  return (await readKeysFile(STATE_KEYS_FILE ?? '')).map(({ input }) => input)
}
