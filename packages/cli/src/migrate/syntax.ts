import {
  type ArrowFunction,
  type CallExpression,
  type FunctionDeclaration,
  type FunctionExpression,
  type NewExpression,
  Node,
  type ObjectLiteralExpression,
  type SourceFile,
  SyntaxKind,
  type VariableDeclaration,
} from 'ts-morph'

/** A function that is written as an expression. */
export type FunctionNode = ArrowFunction | FunctionExpression

/** Returns the expression inside parentheses and type assertions. */
export function unwrap(node: Node): Node {
  const inner = Node.isParenthesizedExpression(node) || Node.isAsExpression(node) || Node.isSatisfiesExpression(node)
  return inner ? unwrap(node.getExpression()) : node
}

/** Returns the function that an expression is. */
export function functionOf(node: Node | undefined): FunctionNode | undefined {
  return Node.isArrowFunction(node) || Node.isFunctionExpression(node) ? node : undefined
}

/** Returns the declaration of the constant that an identifier names, in the same file. */
export function constantOf(node: Node): VariableDeclaration | undefined {
  if (!Node.isIdentifier(node)) return undefined
  const declaration = node.getDefinitionNodes().find(Node.isVariableDeclaration)
  return declaration?.getVariableStatement()?.getDeclarationKind() === 'const' ? declaration : undefined
}

/** Returns the declaration of the function that an identifier names, in the same file. */
export function functionDeclarationOf(node: Node): FunctionDeclaration | FunctionNode | undefined {
  if (!Node.isIdentifier(node)) return undefined
  const declaration = node.getDefinitionNodes().find(Node.isFunctionDeclaration)
  return declaration ?? functionOf(constantOf(node)?.getInitializer())
}

/** Returns the places that use a declared name, without the declaration. */
export function usesOf(name: Node): readonly Node[] {
  if (!Node.isIdentifier(name)) return []
  return name.findReferencesAsNodes().filter((node) => node.getStart() !== name.getStart())
}

/** Returns the object literal that an expression is, or that a constant with a single use holds. */
export function objectOf(node: Node | undefined): ObjectLiteralExpression | undefined {
  if (node === undefined) return undefined
  const value = unwrap(node)
  if (Node.isObjectLiteralExpression(value)) return value
  const constant = constantOf(value)
  const initializer = constant?.getInitializer()
  if (constant === undefined || initializer === undefined || usesOf(constant.getNameNode()).length !== 1)
    return undefined
  const inner = unwrap(initializer)
  return Node.isObjectLiteralExpression(inner) ? inner : undefined
}

/** Returns the value of a member of an object literal. For a shorthand member, that is its name. */
export function memberOf(object: ObjectLiteralExpression, name: string): Node | undefined {
  const property = object.getProperty(name)
  if (Node.isPropertyAssignment(property)) return property.getInitializer()
  return Node.isShorthandPropertyAssignment(property) ? property.getNameNode() : undefined
}

/** Returns true if every member of an object literal is `name: value` or a shorthand. */
export function hasPlainMembers(object: ObjectLiteralExpression): boolean {
  return object
    .getProperties()
    .every((one) => Node.isPropertyAssignment(one) || Node.isShorthandPropertyAssignment(one))
}

/** Returns the names of the members of an object literal. */
export function memberNames(object: ObjectLiteralExpression): readonly string[] {
  return object
    .getProperties()
    .map((one) => (Node.isPropertyAssignment(one) || Node.isShorthandPropertyAssignment(one) ? one.getName() : ''))
}

/** Returns true for the name after the dot of a member access, or before the colon in an object. */
export function isMemberName(name: Node): boolean {
  const parent = name.getParent()
  const isMember = Node.isPropertyAccessExpression(parent) || Node.isPropertyAssignment(parent)
  return isMember && parent.getNameNode() === name
}

/** Returns the text of a string literal. */
export function stringOf(node: Node | undefined): string | undefined {
  if (node === undefined) return undefined
  const value = unwrap(node)
  return Node.isStringLiteral(value) || Node.isNoSubstitutionTemplateLiteral(value) ? value.getLiteralText() : undefined
}

/** Returns the call whose callee a node is. */
export function callOf(callee: Node): CallExpression | undefined {
  const parent = callee.getParentIfKind(SyntaxKind.CallExpression)
  return parent?.getExpression() === callee ? parent : undefined
}

/** Returns the `await` around a call, or the call. */
export function withAwait(call: Node): Node {
  return call.getParentIfKind(SyntaxKind.AwaitExpression) ?? call
}

/** Returns the instantiations of a class of the official SDK. */
export function newExpressionsOf(
  source: SourceFile,
  sdkNames: ReadonlyMap<string, string>,
  className: string,
): readonly NewExpression[] {
  return source
    .getDescendantsOfKind(SyntaxKind.NewExpression)
    .filter((one) => sdkNames.get(one.getExpression().getText()) === className)
}

/** Returns the white space before the first character of a node's line. */
export function indentOf(node: Node): string {
  const text = node.getSourceFile().getFullText()
  const lineStart = text.lastIndexOf('\n', node.getStart() - 1) + 1
  return /^[ \t]*/.exec(text.slice(lineStart))?.[0] ?? ''
}
