import { transform } from 'esbuild'

const block = /^```(?:ts|typescript|js|javascript|mjs)\n([\s\S]*?)^```$/m

/**
 * Returns the first program of a README as JavaScript.
 *
 * @throws Error if the README has no program.
 */
export async function readProgram(readme: string, path: string): Promise<string> {
  const source = block.exec(readme)?.[1]
  if (source === undefined) throw new Error(`${path} shows no program: add a code block of ts or js`)
  const { code } = await transform(source, { loader: 'ts', format: 'esm', target: 'node20' })
  return code
}

/** Lists the packages that a program imports, without subpaths and the modules of Node. */
export function importedPackages(program: string): readonly string[] {
  const specifiers = [...program.matchAll(/\bfrom\s*['"]([^'"]+)['"]|\bimport\s*['"]([^'"]+)['"]/g)]
  const names = specifiers.map((match) => match[1] ?? match[2] ?? '').filter((name) => /^[@a-z]/.test(name))
  const outside = names.filter((name) => !name.startsWith('node:'))
  return [
    ...new Set(
      outside.map((name) =>
        name
          .split('/')
          .slice(0, name.startsWith('@') ? 2 : 1)
          .join('/'),
      ),
    ),
  ]
}
