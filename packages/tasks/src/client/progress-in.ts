import type { Progress } from '@x/client'
import { isJsonObject, metaNames } from '@x/schema'
import type { DetailedTask } from '../schema/task.ts'

/** Returns the numbers that a server of this project gives in the `_meta` of a task; undefined where there are none. */
export function progressIn(state: DetailedTask): Pick<Progress, 'progress' | 'total'> | undefined {
  const meta = '_meta' in state && isJsonObject(state._meta) ? state._meta : {}
  const numbers = meta[metaNames.progress]
  if (!isJsonObject(numbers) || typeof numbers['progress'] !== 'number') return undefined
  const { progress, total } = numbers
  return { progress, ...(typeof total === 'number' && { total }) }
}
