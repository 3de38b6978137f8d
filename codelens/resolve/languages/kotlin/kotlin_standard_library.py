"""What `this` is in lambdas that functions of Kotlin's own libraries take."""

from __future__ import annotations

HANDING = frozenset({"apply", "run", "runCatching"})
"""Called on a value, which is `this` in the lambda."""
BUILDING = {
    "buildString": "StringBuilder",
    "buildList": "MutableList",
    "buildSet": "MutableSet",
    "buildMap": "MutableMap",
    "sequence": "SequenceScope",
    "iterator": "SequenceScope",
    "flow": "FlowCollector",
    "channelFlow": "ProducerScope",
    "callbackFlow": "ProducerScope",
}
"""The types of `this` in the lambdas that they take."""
FOREIGN = frozenset(
    "add addAll append appendLine clear contains emit emitAll get insert put putAll remove "
    "removeAll removeAt set setLength trySend yield yieldAll".split()
)
"""What those, and collections and texts, have themselves."""
PLAIN = frozenset(
    """
    all also any assertDoesNotThrow assertFails assertFailsWith assertThrows associate associateBy
    associateWith async check checkNotNull chunked collect collectLatest compareBy
    compareByDescending computeIfAbsent computeIfPresent coroutineScope count describe distinctBy
    drop dropWhile error execute filter filterIndexed filterIsInstance filterKeys filterNot
    filterNotNull filterValues find findLast first firstOrNull flatMap fold foldIndexed foldRight
    forEach forEachIndexed generateSequence getOrElse getOrPut groupBy ifBlank ifEmpty indexOfFirst
    indexOfLast invokeLater it joinToString last lastOrNull launch lazy let map mapIndexed mapKeys
    mapNotNull mapNotNullTo mapTo mapValues maxBy maxByOrNull maxOf maxOfOrNull maxWith
    measureNanoTime measureTime measureTimeMillis measureTimedValue merge minBy minByOrNull minOf
    minOfOrNull none onEach onEachIndexed onFailure onSuccess partition recover reduce removeIf
    repeat replace replaceAll require requireNotNull retainAll runBlocking runInterruptible runTest
    shouldThrow single singleOrNull sortBy sortByDescending sortedBy sortedByDescending sortedWith
    submit sumBy sumOf supervisorScope synchronized takeIf takeUnless takeWhile test thenBy thread
    transform trim use useLines windowed withContext withLock withPermit withTimeout
    withTimeoutOrNull zip Array BooleanArray ByteArray CharArray Comparator DoubleArray FloatArray
    IntArray List LongArray MutableList Runnable ShortArray Thread
    """.split()
)
"""They take lambdas without a `this` of their own, or with one that has nothing of ours."""
NO_FUNCTIONS = frozenset(
    "Boolean Byte ByteArray Char CharSequence Double Float Int IntArray List Long Map Set Short "
    "String".split()
)
"""Types that no lambda is of."""
