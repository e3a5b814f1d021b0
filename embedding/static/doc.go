// Package static makes vectors of texts out of a local table of word vectors,
// without a server, without cgo, and in a few microseconds a text.
//
// [Convert] makes a table of a model's files, once; [Open] maps it into memory.
// A text's vector is the weighted mean of its words' vectors, less most
// of the direction that all texts share, at unit length (Arora, Liang and Ma, A Simple
// but Tough-to-Beat Baseline for Sentence Embeddings, 2017). Tables made of a
// model2vec folder cut texts as its tokenizer does and take the plain mean, for
// those models hold their weights in the vectors.
//
// # The file
//
// A table is one file, little-endian, of version 1:
//
//	 0  magic     8 bytes  "memdvec\n"
//	 8  version   u32      1
//	12  dim       u32      numbers in a vector, 1 to 4096
//	16  rows      u32      vectors, 1 to 8388608
//	20  words     u32      words, 1 to 8388608; several may share a vector
//	24  buckets   u32      of the words' directory
//	28  entries   u32      bytes of the words' entries
//	32  cut       u8       how texts are cut: 0 words, 1 WordPiece, 2 Unigram
//	33  flags     u8       what is done to a text first, see the flag constants
//	34  longest   u8       characters of the longest word or piece; for words,
//	                       of the longest in an unspaced script, at most 16
//	35  name      u8       bytes of the model's name, 1 to 128
//	36  zero      28 bytes
//	64  sha256    32 bytes of the whole file, with zeros in its own place
//	96  vectors   rows x dim i8
//	    component dim x f32       removed from a text's vector v: c times (c · v)
//	    directory buckets+1 x u32 where a bucket's entries start in the entries
//	    entries   each: length u8, row u32, factor f32, of Unigram score f32,
//	              then the word's bytes; sorted by bucket
//	    name      UTF-8
//
// A word's vector is its row times its factor, which holds both the scale of
// the row's quantisation and the word's weight. The score is Unigram's. A word
// is in bucket hi(mix(fnv1a64(word)) * buckets).
//
// A table is never changed in place: the file is mapped, and cutting it short
// would end the process that has it open. A new one is renamed over the old.
package static
