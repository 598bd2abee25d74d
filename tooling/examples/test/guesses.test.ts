import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, test } from 'vitest'

const file = fileURLToPath(new URL('../guesses/typed.ts', import.meta.url))

test('each guess compiles, or the error in its line says what is right', { timeout: 120_000 }, () => {
  const lines = readFileSync(file, 'utf8').split('\n')
  const expected = lines.flatMap((line, index) => {
    const advice = / \/\/ error: (.+)$/.exec(line)?.[1]
    return advice === undefined ? [] : [{ line: index + 1, advice }]
  })
  expect(expected.length).toBeGreaterThan(0)
  const found = errors()
  expect(found.map(({ line }) => line)).toEqual(expected.map(({ line }) => line))
  for (const [index, { advice }] of expected.entries()) expect(found[index]?.message).toContain(advice)
})

/** The errors of the file under `--strict`, as an author sees them. */
function errors(): { readonly line: number; readonly message: string }[] {
  const program = ts.createProgram([file], {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    types: ['node'],
  })
  return program
    .getSemanticDiagnostics(program.getSourceFile(file))
    .map(({ start = 0, file: source, messageText }) => ({
      line: (source?.getLineAndCharacterOfPosition(start).line ?? -1) + 1,
      message: ts.flattenDiagnosticMessageText(messageText, '\n'),
    }))
}
