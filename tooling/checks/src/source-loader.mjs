import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const compilerOptions = {
  module: ts.ModuleKind.ESNext,
  target: ts.ScriptTarget.ES2022,
  verbatimModuleSyntax: true,
}

/**
 * Loads a TypeScript module without its types, so that a program can run from the sources.
 * @type {import('node:module').LoadHook}
 */
export async function load(url, context, nextLoad) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return nextLoad(url, context)
  const text = await readFile(fileURLToPath(url), 'utf8')
  const { outputText } = ts.transpileModule(text, { compilerOptions })
  return { format: 'module', source: outputText, shortCircuit: true }
}
