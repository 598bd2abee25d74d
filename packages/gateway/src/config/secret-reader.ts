import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { codeOf } from '@x/core'
import * as z from 'zod'

/**
 * The place of a secret: the name of an environment variable, or the path of a file. The file itself has no secrets.
 */
export const secretReference = z.union(
  [z.strictObject({ env: z.string().min(1) }), z.strictObject({ file: z.string().min(1) })],
  'must be { "env": NAME } or { "file": PATH }, because secrets do not belong in this file',
)

export type SecretReference = z.infer<typeof secretReference>

/** Reads secrets, and collects the problems. */
export class SecretReader {
  readonly problems: string[] = []
  readonly #folder: string
  readonly #environment: NodeJS.ProcessEnv

  constructor(folder: string, environment: NodeJS.ProcessEnv) {
    this.#folder = folder
    this.#environment = environment
  }

  /**
   * Reads a secret without the whitespace around it. If there is none, it is an empty text, and the problem is kept.
   */
  async read(place: string, reference: SecretReference): Promise<string> {
    const text = 'env' in reference ? this.#readVariable(reference.env) : await this.#readFile(place, reference.file)
    const secret = text?.trim() ?? ''
    if (secret === '' && 'env' in reference) this.problems.push(`${place}: the variable ${reference.env} is not set`)
    return secret
  }

  /** Reads those of the values that are secrets, each in the place of its key. */
  async readAll(
    place: string,
    values: Readonly<Record<string, string | SecretReference>> = {},
  ): Promise<Readonly<Record<string, string>>> {
    const entries: [string, string][] = []
    for (const [key, value] of Object.entries(values))
      entries.push([key, typeof value === 'string' ? value : await this.read(`${place}.${key}`, value)])
    return Object.fromEntries(entries)
  }

  #readVariable(name: string): string | undefined {
    return Object.hasOwn(this.#environment, name) ? this.#environment[name] : undefined
  }

  async #readFile(place: string, file: string): Promise<string> {
    try {
      const text = await readFile(resolve(this.#folder, file), 'utf8')
      if (text.trim() === '') this.problems.push(`${place}: the file ${file} is empty`)
      return text
    } catch (error) {
      this.problems.push(`${place}: the file ${file} cannot be read (${codeOf(error) ?? 'an error'})`)
      return ''
    }
  }
}
