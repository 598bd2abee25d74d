import {
  type ImportDeclaration,
  type ImportSpecifier,
  Node,
  Project,
  type SourceFile,
  type Statement,
  SyntaxKind,
} from 'ts-morph'
import { Edits } from './edits.ts'
import { isSdkModule, readSdkNames } from './sdk-names.ts'
import { functionOf, unwrap } from './syntax.ts'

/** Parses a file by itself. Its imports are not resolved. */
export function parse(name: string, text: string): SourceFile {
  const project = new Project({
    useInMemoryFileSystem: true,
    skipLoadingLibFiles: true,
    skipAddingFilesFromTsConfig: true,
    compilerOptions: { allowJs: true },
  })
  return project.createSourceFile(name, text)
}

/** Returns the names that a file declares and does not use, without those of the official SDK. */
export function unusedNamesOf(source: SourceFile): ReadonlySet<string> {
  const sdkNames = readSdkNames(source)
  const names = [...unusedImports(source), ...unusedStatements(source)].map(({ name }) => name)
  return new Set(names.filter((name) => !sdkNames.has(name)))
}

/**
 * Removes what the new code no longer uses: imports, and constants and functions that have no effect by themselves. What
 * was unused before stays.
 */
export function removeUnused(name: string, text: string, unusedBefore: ReadonlySet<string>): string {
  const source = parse(name, text)
  const edits = new Edits(text)
  const statements = unusedStatements(source).filter((one) => !unusedBefore.has(one.name))
  const specifiers = unusedImports(source).filter((one) => !unusedBefore.has(one.name))
  if (statements.length + specifiers.length === 0) return text
  for (const { statement } of statements) removeStatement(edits, statement)
  const names = new Set(specifiers.map((one) => one.name))
  for (const declaration of source.getImportDeclarations()) removeSpecifiers(edits, declaration, names)
  return removeUnused(name, edits.apply(), unusedBefore)
}

function isUnused(name: Node): boolean {
  return Node.isIdentifier(name) && name.findReferencesAsNodes().every((one) => one.getStart() === name.getStart())
}

function localNameOf(specifier: ImportSpecifier): Node {
  return specifier.getAliasNode() ?? specifier.getNameNode()
}

function unusedImports(source: SourceFile): readonly { readonly name: string }[] {
  return source
    .getImportDeclarations()
    .flatMap((declaration) => declaration.getNamedImports())
    .map((specifier) => localNameOf(specifier))
    .filter((name) => isUnused(name))
    .map((name) => ({ name: name.getText() }))
}

/** Removes names of an import, or the whole import. */
export function removeSpecifiers(edits: Edits, declaration: ImportDeclaration, unused: ReadonlySet<string>): void {
  const all = declaration.getNamedImports()
  const kept = all.filter((one) => !unused.has(localNameOf(one).getText()))
  const [first, last] = [all[0], all.at(-1)]
  if (first === undefined || last === undefined || kept.length === all.length) return
  if (kept.length === 0 && declaration.getDefaultImport() === undefined) removeStatement(edits, declaration)
  else edits.replace(first.getStart(), last.getEnd(), kept.map((one) => one.getText()).join(', '))
}

function unusedStatements(source: SourceFile): readonly { readonly name: string; readonly statement: Statement }[] {
  const statements = [
    ...source.getDescendantsOfKind(SyntaxKind.VariableStatement),
    ...source.getDescendantsOfKind(SyntaxKind.FunctionDeclaration),
  ]
  return statements.flatMap((statement) => {
    const [declaration, ...others] = Node.isVariableStatement(statement) ? statement.getDeclarations() : [statement]
    const name = declaration?.getNameNode()
    const isExported = statement.hasExportKeyword()
    if (declaration === undefined || name === undefined || isExported || others.length > 0) return []
    return isUnused(name) && isInert(declaration) ? [{ name: name.getText(), statement }] : []
  })
}

/** Returns true if a declaration has no effect but its value. */
function isInert(declaration: Node): boolean {
  if (Node.isFunctionDeclaration(declaration)) return true
  const initializer = Node.isVariableDeclaration(declaration) ? declaration.getInitializer() : undefined
  return initializer !== undefined && isInertValue(unwrap(initializer))
}

function isInertValue(value: Node): boolean {
  if (functionOf(value) !== undefined || Node.isIdentifier(value)) return true
  if (Node.isNewExpression(value))
    return isInertClass(value.getExpression()) && value.getArguments().every(isInertValue)
  if (Node.isPropertyAccessExpression(value)) return isInertValue(value.getExpression())
  if (Node.isObjectLiteralExpression(value)) return value.getProperties().every(isInertMember)
  return Node.isLiteralExpression(value) || value.getKind() === SyntaxKind.UndefinedKeyword
}

function isInertMember(member: Node): boolean {
  const value = Node.isPropertyAssignment(member) ? member.getInitializer() : undefined
  return Node.isShorthandPropertyAssignment(member) || (value !== undefined && isInertValue(unwrap(value)))
}

/** The classes of the platform and of the official SDK do nothing before they are used. */
function isInertClass(name: Node): boolean {
  const text = name.getText()
  return text === 'Map' || text === 'Set' || readSdkNames(name.getSourceFile()).has(text)
}

/** Removes a statement with its line, and with its comments. */
export function removeStatement(edits: Edits, statement: Node): void {
  const text = statement.getSourceFile().getFullText()
  const comments = Node.isImportDeclaration(statement) ? [] : statement.getLeadingCommentRanges()
  const start = comments[0]?.getPos() ?? statement.getStart()
  const lineStart = text.lastIndexOf('\n', start - 1) + 1
  const after = /^[ \t]*(\/\/[^\n]*)?(\n|$)/.exec(text.slice(statement.getEnd()))?.[0].length ?? 0
  edits.replace(lineStart, statement.getEnd() + after, '')
}

/** Adds imports where the first import of the official SDK is, or at the beginning. */
export function addImports(name: string, text: string, imports: ReadonlyMap<string, string>): string {
  const source = parse(name, text)
  const all = source.getImportDeclarations()
  const first = all.find((one) => isSdkModule(one.getModuleSpecifierValue())) ?? all[0]
  const position = first?.getStart() ?? 0
  const quote = first?.getModuleSpecifier().getText().startsWith('"') === true ? '"' : "'"
  const end = first === undefined || first.getText().endsWith(';') ? ';' : ''
  const modules = [...new Set(imports.values())].toSorted()
  const lines = modules.map((module) => {
    const names = [...imports].filter(([, one]) => one === module).map(([one]) => one)
    const sorted = names.toSorted((a, b) => bare(a).localeCompare(bare(b)))
    const list = module === 'zod' ? '* as z' : `{ ${sorted.join(', ')} }`
    return `import ${list} from ${quote}${module}${quote}${end}\n`
  })
  return text.slice(0, position) + lines.join('') + text.slice(position)
}

function bare(name: string): string {
  return name.replace(/^type /, '').toLowerCase()
}
