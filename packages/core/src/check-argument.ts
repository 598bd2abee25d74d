import { describeGiven } from './resolve-options.ts'

/**
 * Throws a TypeError for an argument that is no object, or lacks a member that the function needs. Programs without
 * types pass nothing, a URL, or a misspelt member.
 *
 * @example
 * checkArgument(source, { where: 'openaiTools', takes: 'a client', needs: ['listTools'] })
 */
export function checkArgument(
  value: unknown,
  { where, takes, needs = [] }: { readonly where: string; readonly takes: string; readonly needs?: readonly string[] },
): void {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null)
    throw new TypeError(`${where} takes ${takes}, and was given ${describeGiven(value)}`)
  const missing = needs.find((member) => Reflect.get(value, member) === undefined)
  if (missing !== undefined) throw new TypeError(`${where} takes ${takes}: \`${missing}\` is missing`)
}
