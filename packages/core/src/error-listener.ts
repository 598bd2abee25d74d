/** A listener of errors or warnings, as options take it: absent for a line on the console, `false` for silence. */
export type ErrorListener<Parameters extends readonly unknown[]> =
  | ((...parameters: Parameters) => void)
  | false
  | undefined

/**
 * Returns the listener that an author gave. Without one, each error or warning becomes one line on the standard error,
 * by `console.error`, because the standard output may be a transport's. The place is the request that it belongs to.
 */
export function errorListener<Parameters extends readonly [unknown, ...unknown[]]>(
  listener: ErrorListener<Parameters>,
  packageName: string,
  describeContext: (...parameters: Parameters) => string = () => '',
): (...parameters: Parameters) => void {
  if (listener === false) return () => {}
  if (listener !== undefined) return listener
  // oxlint-disable-next-line no-console -- the destination of errors whose author gave no other
  return (...parameters) => console.error(formatErrorLine(packageName, describeContext(...parameters), parameters[0]))
}

const maxLineLength = 2000
const maxCauses = 3

/** Part of an error may be a peer's text, which must not begin a line of its own, nor steer a terminal. */
function formatErrorLine(packageName: string, context: string, error: unknown): string {
  const line = `${packageName}: ${context === '' ? '' : `${context}: `}${describeError(error)}`.replaceAll(
    /[\p{C}\s]+/gu,
    ' ',
  )
  return line.length > maxLineLength ? `${line.slice(0, maxLineLength)}…` : line
}

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return messageOf(error)
  const causes: string[] = []
  let { cause } = error
  while (cause !== undefined && causes.length < maxCauses) {
    causes.push(` (cause: ${messageOf(cause)})`)
    cause = cause instanceof Error ? cause.cause : undefined
  }
  return `${messageOf(error)}${causes.join('')}${frameOf(error)}`
}

function messageOf(error: unknown): string {
  if (error === undefined || error === null) return `${String(error)} was thrown`
  if (error instanceof Error) return error.message === '' ? error.name : `${error.name}: ${error.message}`
  if (typeof error === 'object' && error !== null) {
    if ('message' in error) return String(error.message)
    if ('reason' in error) return String(error.reason)
  }
  return `${typeof error} ${String(error)}`
}

/** The first line of the stack that is the author's own, where the engine writes stacks as V8 does. */
function frameOf({ stack = '' }: Error): string {
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line))
  const ownFrame = frames.find((line) => !/node:|node_modules|<anonymous>/.test(line))
  return ownFrame === undefined ? '' : ` ${ownFrame.trim()}`
}
