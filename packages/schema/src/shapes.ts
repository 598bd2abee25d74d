/**
 * Functions that describe a type of an extension and derive its check, and the shapes of the protocol that extensions
 * build on.
 *
 * @module @x/schema/shapes
 */

export type { Check, Failure } from './basic/failure.ts'
export { resultMetaObject } from './basic/meta.ts'
export {
  boolean,
  unionByMember,
  type CheckDepth,
  checkOf,
  type Description,
  integer,
  integerOrNull,
  list,
  map,
  number,
  optional,
  type Shape,
  shape,
  string,
  union,
  literal,
  type LeafKind,
  jsonObject,
  jsonValue,
} from './basic/shape.ts'
export { inputRequests } from './patterns/mrtr.ts'
