//! Profiles against profiles, and the progressive alignments that are made of them (ClustalW: Thompson, Higgins and Gibson
//! 1994).
