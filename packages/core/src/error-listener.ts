import { createLog, errorRecord } from './log.ts'

/** A listener of errors or warnings, as options take it: absent for a line on the console, `false` for silence. */
export type ErrorListener<Parameters extends readonly unknown[]> =
  | ((...parameters: Parameters) => void)
  | false
  | undefined

/**
 * Returns the listener that an author gave. Without one, each error or warning becomes one line on the standard error.
 * The context is the request that it belongs to.
 */
export function errorListener<Parameters extends readonly [unknown, ...unknown[]]>(
  listener: ErrorListener<Parameters>,
  packageName: string,
  describeContext: (...parameters: Parameters) => string = () => '',
): (...parameters: Parameters) => void {
  if (listener === false) return () => {}
  if (listener !== undefined) return listener
  const log = createLog(undefined, packageName)
  return (...parameters) => log(errorRecord(parameters[0], { name: describeContext(...parameters) }))
}
