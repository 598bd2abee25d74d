import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { KeyInput } from '@x/state-codec'

/** A file with two keys. */
export const keysPath = fileURLToPath(new URL('./two.keys', import.meta.url))

/** As a server takes them. */
export function readKeys(): readonly KeyInput[] {
  const [, first = '', second = ''] = readFileSync(keysPath, 'utf8').split('\n')
  return [{ id: 'first', key: first.replace('first:', '') }, second]
}
