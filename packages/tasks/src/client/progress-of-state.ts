import type { Progress } from '@x/client'
import { isJsonObject, projectMetaKeys } from '@x/schema'
import type { DetailedTask } from '../schema/task.ts'

/** Returns the numbers that a server of this project gives in the `_meta` of a task; undefined where there are none. */
export function progressOfState(state: DetailedTask): Pick<Progress, 'progress' | 'total'> | undefined {
  const meta = '_meta' in state && isJsonObject(state._meta) ? state._meta : {}
  const progressMeta = meta[projectMetaKeys.progress]
  if (!isJsonObject(progressMeta) || typeof progressMeta['progress'] !== 'number') return undefined
  const { progress, total } = progressMeta
  return { progress, ...(typeof total === 'number' && { total }) }
}
