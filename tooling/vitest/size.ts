import { isNight } from './scope.mjs'

/** Returns the size of a test of chance: a small one for each change, the whole at night. */
export function sizeOf({ change, night }: { readonly change: number; readonly night: number }): number {
  return isNight ? night : change
}
