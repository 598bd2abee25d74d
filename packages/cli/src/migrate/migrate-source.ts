import { type SourceFile, SyntaxKind, ts } from 'ts-morph'
import { CliError } from '../cli-error.ts'
import { addImports, parse, removeSpecifiers, removeUnused, unusedNamesOf } from './imports.ts'
import { createRewriting, leave, type Remaining, type Rewriting } from './rewriting.ts'
import { sdkImportsOf } from './sdk-names.ts'
import { rewriteServers } from './servers.ts'
import { newExpressionsOf } from './syntax.ts'
import { rewriteTransports } from './transports.ts'

/** A place in a file that its author has to rewrite. */
export interface Leftover {
  /** The line in the source, from 1. */
  readonly line: number
  /** The line in the new text, from 1. */
  readonly newLine: number
  /** One sentence that says what to write. */
  readonly message: string
  /** The address of the section that explains it. */
  readonly guide: string
}

/** A file after its migration. */
export interface Migration {
  readonly text: string
  readonly leftovers: readonly Leftover[]
}

/** Rewrites a file of the official SDK. A file that does not import it is returned as it is. */
export function migrateSource(name: string, text: string): Migration {
  if (text.includes('\r\n')) {
    const migration = migrateSource(name, text.replaceAll('\r\n', '\n'))
    return { ...migration, text: migration.text.replaceAll('\n', '\r\n') }
  }
  const source = parse(name, text)
  if (sdkImportsOf(source).length === 0) return { text, leftovers: [] }
  checkSyntax(name, source)
  const rewriting = createRewriting(source)
  rewriteServers(rewriting)
  rewriteTransports(rewriting)
  replaceServerType(rewriting)
  replaceSdkNames(rewriting)
  leaveImports(rewriting, name)
  const marked = markRemaining(rewriting)
  return readMarks(source, marked, writeImports(rewriting, name))
}

function checkSyntax(name: string, source: SourceFile): void {
  const [first] = source.getProject().getProgram().getSyntacticDiagnostics(source)
  if (first === undefined) return
  const message = ts.flattenDiagnosticMessageText(first.compilerObject.messageText, ' ')
  throw new CliError(
    'failure',
    `${name}:${first.getLineNumber()} is not valid TypeScript: ${message} Correct it first.`,
  )
}

function writeImports({ source, edits, imports }: Rewriting, name: string): string {
  return removeUnused(name, addImports(name, edits.apply(), imports), unusedNamesOf(source))
}

/** Removes the names of the official SDK that the new code imports from elsewhere, such as `serveStdio`. */
function replaceSdkNames({ source, edits, imports }: Rewriting): void {
  const names = new Set([...imports.keys()].map((name) => name.replace(/^type /, '')))
  for (const declaration of sdkImportsOf(source)) removeSpecifiers(edits, declaration, names)
}

/** The type of a server has the same name here. */
function replaceServerType({ source, sdkNames, imports, edits }: Rewriting): void {
  const isType = source.getDescendantsOfKind(SyntaxKind.TypeReference).some((one) => one.getText() === 'McpServer')
  const isRewritten = newExpressionsOf(source, sdkNames, 'McpServer').every((one) => edits.covers(one.getStart()))
  if (!isType || !isRewritten || sdkNames.get('McpServer') !== 'McpServer') return
  imports.set('type McpServer', '@x/server')
}

/** The names that the section about version 2 explains. The section about version 1 has those of both versions. */
const namesOfVersion2: ReadonlySet<string> = new Set([
  'acceptedContent',
  'createMcpHandler',
  'inputRequired',
  'toNodeHandler',
])

/** Names the imports of the official SDK that the new code still needs. */
function leaveImports(rewriting: Rewriting, name: string): void {
  const rewritten = parse(name, writeImports(rewriting, name))
  const needed = new Set(sdkImportsOf(rewritten).flatMap((one) => one.getNamedImports().map((two) => two.getText())))
  for (const declaration of sdkImportsOf(rewriting.source))
    for (const specifier of declaration.getNamedImports())
      if (needed.has(specifier.getText()))
        leave(
          rewriting,
          specifier,
          `Replace what still uses ${specifier.getName()}, and delete this import.`,
          namesOfVersion2.has(specifier.getName()) ? 'version2' : 'version1',
        )
}

const markOf = (index: number): string => `/*mcpx migrate ${index}*/`

/** Marks the remaining places with comments, so that their lines in the new text are known. */
function markRemaining({ edits, remaining }: Rewriting): readonly Remaining[] {
  const ordered = remaining.toSorted((a, b) => a.position - b.position)
  for (const [index, { position }] of ordered.entries()) edits.insert(edits.afterChange(position), markOf(index))
  return ordered
}

/** Removes the marks, and returns the remaining places with their lines. */
function readMarks(source: SourceFile, marked: readonly Remaining[], text: string): Migration {
  const leftovers = marked.map(({ position, message, guide }, index) => {
    const { line } = source.getLineAndColumnAtPos(position)
    const mark = text.indexOf(markOf(index))
    const newLine = mark === -1 ? line : text.slice(0, mark).split('\n').length
    return { line, newLine, message, guide }
  })
  return { text: text.replaceAll(/\/\*mcpx migrate \d+\*\//g, ''), leftovers }
}
