import ts from 'typescript'
import { options, path, programOf } from './many-calls.ts'

const clients = `
import type { TypesOf } from '@x/client'
export interface Api extends TypesOf<typeof server> {}
const host = { name: 'host', version: '1.0.0' }
export const byInterface = createClient<Api>(server.exchange, host)
export const byServer = createClient<typeof server>(server.exchange, host)
`

/**
 * Returns the hints that an editor shows for the last name of each expression. An expression can use two clients of a
 * server with many tools: `byInterface` has the types of the server from an interface, and `byServer` from `typeof`.
 *
 * @throws Error with the compiler's first message when the program does not compile.
 */
export function readHints(count: number, expressions: readonly string[]): readonly string[] {
  let source = `${programOf(count, 'typed')}${clients}`
  const ends = expressions.map((expression, index) => {
    source += `export const hinted${index} = ${expression}\n`
    return source.length - 1
  })
  const service = ts.createLanguageService(hostOf(source))
  const [problem] = service.getSemanticDiagnostics(path)
  if (problem !== undefined) throw new Error(ts.flattenDiagnosticMessageText(problem.messageText, '\n'))
  return ends.map((end) => ts.displayPartsToString(service.getQuickInfoAtPosition(path, end)?.displayParts))
}

function hostOf(source: string): ts.LanguageServiceHost {
  return {
    ...ts.sys,
    useCaseSensitiveFileNames: () => ts.sys.useCaseSensitiveFileNames,
    getCompilationSettings: () => options,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    getScriptFileNames: () => [path],
    getScriptVersion: () => '1',
    fileExists: (name) => name === path || ts.sys.fileExists(name),
    getScriptSnapshot: (name) => {
      const text = name === path ? source : ts.sys.readFile(name)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
  }
}
